import { spawnSync } from "node:child_process";

/** Runs a script in a mount namespace of its own, in which it may mount; what follows it becomes its last command. */
export function withMounts(script: string): string[] {
  return ["unshare", "--map-root-user", "--mount", "sh", "-ec", `${script}\nexec "$@"`, "sh"];
}

/** Whether this machine lets its users mount file systems in namespaces of their own. */
export function canMount(): boolean {
  const [program = "", ...args] = withMounts("mount -t tmpfs -o size=1m none /tmp");
  return spawnSync(program, [...args, "true"], { stdio: "ignore" }).status === 0;
}
