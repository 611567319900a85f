import path from "node:path";

/** How the process was started. */
export interface ProgramStart {
  /** The started file: `process.argv[1]`. */
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

const NAME = "binnacle";
/** pnpm and Yarn keep packages that are not installed in such folders. */
const DLX = /[\\/]dlx[-\\/]/;

/** By the name in the user agent that package managers set: how to run an installed package, and one that is not. */
const MANAGERS: Readonly<Record<string, readonly [installed: string, fetched: string]>> = {
  npm: ["npx binnacle", "npx binnacle"],
  pnpm: ["pnpm exec binnacle", "pnpm dlx binnacle"],
  yarn: ["yarn binnacle", "yarn dlx binnacle"],
  bun: ["bunx binnacle", "bunx binnacle"],
};

/** The program as the user would type it again, such as `npx binnacle` or `node dist/cli.js`. */
export function programName({ file, env, cwd }: ProgramStart): string {
  const isPackaged = file.split(/[\\/]/).includes("node_modules");
  if (!isPackaged && path.basename(file) !== NAME) return `node ${shown(file, cwd)}`;
  const [agent = ""] = (env.npm_config_user_agent ?? "").split("/");
  const known = Object.hasOwn(MANAGERS, agent) ? MANAGERS[agent] : undefined;
  if (known && isPackaged) return DLX.test(file) ? known[1] : known[0];
  if (isOnPath(file, env)) return NAME;
  // Shims of Windows and pnpm start the file of the package itself.
  if (path.basename(file) !== NAME) return isBelow(file, cwd) ? "npx binnacle" : NAME;
  return shown(file, cwd);
}

function isOnPath(file: string, env: ProgramStart["env"]): boolean {
  const folders = (env.PATH ?? env.Path ?? "").split(path.delimiter);
  return path.basename(file) === NAME && folders.includes(path.dirname(file));
}

const isBelow = (file: string, cwd: string): boolean => !path.relative(cwd, file).startsWith("..");

/** A relative path, if the file is below the working directory. Quoted for a shell if necessary. */
function shown(file: string, cwd: string): string {
  const place = isBelow(file, cwd) ? path.relative(cwd, file) : file;
  const typed = path.basename(file) === NAME && !place.includes(path.sep) ? `.${path.sep}${place}` : place;
  return /^[\w@%+=:,./\\-]+$/.test(typed) ? typed : JSON.stringify(typed);
}
