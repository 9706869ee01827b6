// What every program that a test starts finds around it: nothing of the tester's own but what it needs to run.
/**
 * Compiled code is kept between the many short lives of our programs, where vitest.config.ts says so. Servers that the
 * tester names may have certificates of an authority of their own.
 */
export function childEnvironment(given: Readonly<Record<string, string>>): Record<string, string> {
  const { PATH = "", HOME = "", NODE_COMPILE_CACHE, NODE_EXTRA_CA_CERTS } = process.env;
  return {
    ...{ PATH, HOME },
    ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
    ...(NODE_EXTRA_CA_CERTS && { NODE_EXTRA_CA_CERTS }),
    ...given,
  };
}
