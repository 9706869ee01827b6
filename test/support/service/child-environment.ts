// What every program that a test starts finds around it: nothing of the tester's own but what it needs to run.

/** Compiled code is kept between the many short lives of our programs, where vitest.config.ts says so. */
export function childEnvironment(given: Readonly<Record<string, string>>): Record<string, string> {
  const { PATH = "", HOME = "", NODE_COMPILE_CACHE } = process.env;
  return { PATH, HOME, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }), ...given };
}
