/**
 * The key in the format of Standard Webhooks libraries: `whsec_` and the base64 of the bytes of the whole `whk_...` key.
 */
export function signingSecret(key: string): string {
  return `whsec_${btoa(key)}`;
}
