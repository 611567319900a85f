import { spawnSync } from "node:child_process";

/**
 * A command line that runs a script in a mount namespace of its own, in which it may mount; arguments after it are run
 * last.
 */
export function withMounts(script: string): string[] {
  return ["unshare", "--map-root-user", "--mount", "sh", "-ec", `${script}\nexec "$@"`, "sh"];
}

/** Whether this machine allows users to mount file systems in their own namespaces. */
export function canMount(): boolean {
  const [program = "", ...args] = withMounts("mount -t tmpfs -o size=1m none /tmp");
  return spawnSync(program, [...args, "true"], { stdio: "ignore" }).status === 0;
}
