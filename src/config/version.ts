// The version of the program, of which package.json is the only place.
import packageJson from "../../package.json" with { type: "json" };

export const VERSION: string = packageJson.version;
