import { Argument, Command } from "commander";
import type { CommandRow, Example, Io } from "./command.ts";

/** Examples at the top of `--help`. */
export const examples: readonly Example[] = [
  ["bash, for this terminal; put it into ~/.bashrc for all terminals", "source <(binnacle completion bash)"],
  ["zsh", "source <(binnacle completion zsh)"],
  ["fish", "binnacle completion fish > ~/.config/fish/completions/binnacle.fish"],
];

/** The words that a shell completes after a command. */
interface Completed {
  readonly name: string;
  readonly summary: string;
  readonly words: readonly { readonly text: string; readonly summary: string }[];
}

const SHELLS: ReadonlyMap<string, (commands: readonly Completed[]) => string> = new Map([
  ["bash", bash],
  [
    "zsh",
    (commands: readonly Completed[]) =>
      `autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n${bash(commands)}`,
  ],
  ["fish", fish],
]);

/** Prints a shell script that completes commands and flags. */
export function configure(command: Command, io: Io, rows: readonly CommandRow[]): void {
  command
    .addArgument(new Argument("<shell>", "shell that will read the script").choices([...SHELLS.keys()]))
    .action(async (shell: string) => {
      const commands = await Promise.all(rows.map((row) => completed(row, io, rows)));
      io.print(SHELLS.get(shell)?.(commands) ?? "");
    });
}

async function completed(row: CommandRow, io: Io, rows: readonly CommandRow[]): Promise<Completed> {
  const command = new Command(row.name);
  (await row.load()).configure(command, io, rows);
  const flags = command.options
    .filter(({ hidden, long }) => !hidden && long)
    .map(({ long, description }) => ({ text: long ?? "", summary: description }));
  const inner = command.commands.map((one) => ({ text: one.name(), summary: one.description() }));
  const choices = command.registeredArguments.flatMap(({ argChoices = [] }) =>
    argChoices.map((text) => ({ text, summary: "" })),
  );
  return { name: row.name, summary: row.summary, words: [...inner, ...choices, ...flags] };
}

function bash(commands: readonly Completed[]): string {
  const names = commands.map(({ name }) => name).join(" ");
  const cases = commands.map(
    ({ name, words }) => `    ${name}) words="${words.map(({ text }) => text).join(" ")} --help" ;;`,
  );
  return `_binnacle() {
  local current=\${COMP_WORDS[COMP_CWORD]} words=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${names} help --help --version" -- "$current"))
    return
  fi
  case \${COMP_WORDS[1]} in
${cases.join("\n")}
    help) words="${names}" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _binnacle binnacle
`;
}

function fish(commands: readonly Completed[]): string {
  const quote = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const lines = commands.flatMap(({ name, summary, words }) => [
    `complete -c binnacle -f -n __fish_use_subcommand -a ${name} -d ${quote(summary)}`,
    ...words.map(({ text, summary: about }) => {
      const word = text.startsWith("--") ? `-l ${text.slice(2)}` : `-f -a ${text}`;
      return `complete -c binnacle -n '__fish_seen_subcommand_from ${name}' ${word} -d ${quote(about)}`;
    }),
  ]);
  return `${lines.join("\n")}\n`;
}
