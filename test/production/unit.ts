/** What a unit of systemd starts. */
export interface UnitCommand {
  readonly program: string;
  readonly args: readonly string[];
}

/** The variables of a file for `EnvironmentFile=`. */
export function readEnvironment(text: string): ReadonlyMap<string, string> {
  const lines = text.split("\n").filter((line) => line.includes("="));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
}

/** The command of `ExecStart=`, in as much of systemd's syntax as units in deploy/ use: continued lines and `${NAME}`. */
export function readUnit(text: string, environment: ReadonlyMap<string, string>): UnitCommand {
  const lines = text.replaceAll("\\\n", " ").split("\n");
  const line = lines.find((one) => one.startsWith("ExecStart="));
  if (line === undefined) throw new Error("the unit has no ExecStart");
  const words = line.slice("ExecStart=".length).trim().split(/\s+/);
  const [program = "", ...args] = words.map((word) =>
    word.replace(/\$\{(\w+)\}/g, (_, name: string) => {
      const value = environment.get(name);
      if (value === undefined) throw new Error(`the unit names ${name}, which its environment has not`);
      return value;
    }),
  );
  return { program, args };
}
