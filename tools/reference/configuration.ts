import { type Leaf, leavesOf, type Members, type Section } from "../../src/base/options/option.ts";
import { libraryOptions } from "../../src/programs/library/options.ts";
import { serverSections } from "../../src/programs/server/options.ts";
import { code, head, table } from "./markdown.ts";

function row({ path, option }: Leaf): string[] {
  const { type, help, flag, presence, default: value } = option;
  const shown = presence === "required" ? "required" : value === undefined ? "" : code(JSON.stringify(value));
  return [code(path), code(type.name), shown, help, flag === undefined ? "" : code(`--${flag}`)];
}

function optionTable(options: Members): string {
  const leaves = leavesOf(options).filter(({ option }) => option.presence !== "flag-only");
  return table(["option", "type", "default", "description", "flag"], leaves.map(row));
}

/** The text of docs/reference/configuration.md. */
export function configurationPage(sections: readonly Section[] = serverSections): string {
  const own: Section = { heading: "Only in the library", options: libraryOptions };
  return [
    head(
      "Configuration",
      "The options of `startServer` and the flags of `binnacle serve` that set them. All options may be omitted; options marked as required may not be omitted from their group. `config` of `startControlPlane` accepts most of them, too ([library.md](../library.md)). [flags.md](flags.md) lists the flags.",
    ),
    ...[...sections, own].flatMap(({ heading, options }) => [`## ${heading}`, "", optionTable(options)]),
  ].join("\n");
}
