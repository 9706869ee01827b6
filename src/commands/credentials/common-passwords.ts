// Common passwords of ten or more characters; shorter ones are refused for their length.

/** The most frequent ones of that length in lists of leaked passwords. */
const COMMON = new Set(
  `1234567890 12345678910 0123456789 0987654321 1q2w3e4r5t 1q2w3e4r5t6y qwertyuiop qwerty12345 qwerty123456 qwertyuiop123
  1qaz2wsx3edc qazwsxedcrfv zaq12wsxcde3 asdfghjkl1 asdfghjkl123 zxcvbnm123 password12 password123 password1234 password12345
  password123456 passw0rd123 p@ssw0rd123 p@ssword123 p@ssw0rd1234 passwordpassword mypassword mypassword1 mypassword123
  iloveyou123 iloveyou1234 iloveyou12345 loveyou123 football123 baseball123 basketball superman123 spiderman123 batman12345
  sunshine123 princess123 princess12 michael123 jennifer123 charlie123 letmein123 letmein1234 letmein12345 welcome123
  welcome1234 welcome12345 administrator administrator1 admin12345 admin123456 adminadmin changeme123 changeme1234 default123
  linkledger linkledger1 linkledger123 computer123 internet123 trustno1trustno1 dragon12345 monkey12345 abcdefghij abcdefghijk
  abc1234567 abcd123456 abcd1234567 a1b2c3d4e5 aa12345678 aa123456789 q1w2e3r4t5 q1w2e3r4t5y6 secret1234 secret12345 test123456
  testtest123 testtesttest qwe1234567 123qweasdzxc 123456789a 123456789q 123123123a 1122334455 1111122222 1020304050 9876543210
  correcthorsebatterystaple whatever123 starwars123 pokemon123 liverpool123 chelsea123 arsenal123 manchester jordan2323`.split(
    /\s+/,
  ),
);

/** Ignores case. Also refuses at most two distinct characters, and runs of consecutive digits or letters. */
export function isCommonPassword(password: string): boolean {
  const plain = password.toLowerCase();
  return COMMON.has(plain) || new Set(plain).size <= 2 || isRun(plain);
}

/** Such as 23456789012 or zyxwvutsrq: consecutive in either direction, wrapping around. */
function isRun(text: string): boolean {
  return ["0123456789", "abcdefghijklmnopqrstuvwxyz"].some((row) => {
    const forwards = row.repeat(Math.ceil(text.length / row.length) + 1);
    return forwards.includes(text) || [...forwards].reverse().join("").includes(text);
  });
}
