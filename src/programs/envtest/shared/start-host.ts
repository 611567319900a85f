import { spawn } from "node:child_process";
import path from "node:path";

/** Node options of the package's shebang line. */
export const NODE_OPTIONS: readonly string[] = ["--max-semi-space-size=8"];

/** Starts the shared process. It outlives this process, and ends by itself. */
export function startHost(cli: string, address: string): void {
  const cwd = process.platform === "win32" ? undefined : path.dirname(address);
  const args = [...NODE_OPTIONS, cli, "envtest", "host", address];
  spawn(process.execPath, args, { cwd, detached: true, stdio: "ignore" }).unref();
}
