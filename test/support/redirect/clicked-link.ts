// The link that the recorder's tests click on.
export const clickedLink = {
  key: "localhost/abcdefg",
  slug: "abcdefg",
  revision: 0,
  shortUrl: "http://localhost:3000/abcdefg",
  longUrl: "https://example.com/",
  accountId: "7a6f3c1e-52b1-4f0e-9a54-2f6c1d7b8e90",
  via: "api",
} as const;
