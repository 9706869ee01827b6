// The link that the recorder's tests click on.
export const clickedLink = {
  key: "localhost/abcdefg",
  revision: 0,
  longUrl: "https://example.com/",
  accountId: "7a6f3c1e-52b1-4f0e-9a54-2f6c1d7b8e90",
  via: "api",
} as const;
