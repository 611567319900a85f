import { readFileSync } from "node:fs";
import path from "node:path";
import { oneLine } from "./markdown.ts";

/** A member of an interface or a class. */
export interface Member {
  readonly name: string;
  /** As it is declared, without a body. */
  readonly text: string;
  readonly comment: string;
}

/** Something that a file exports. */
export interface Declaration {
  readonly name: string;
  /** The classes and interfaces that it extends, without those of other packages. */
  readonly bases: readonly Declaration[];
  /** `function`, `class`, `interface`, `type` or `const`. */
  readonly sort: string;
  /** The first lines, up to a body. */
  readonly text: string;
  readonly comment: string;
  readonly members: readonly Member[];
}

/** A name that a file passes on from another one. */
export interface PassedOn {
  readonly name: string;
  readonly file: string;
}

/** What a file such as src/index.ts exports, in its order. */
export function passedOn(file: string): PassedOn[] {
  const text = readFileSync(file, "utf8");
  return [...text.matchAll(/^export (?:type )?\{([^}]*)\} from "([^"]+)";/gm)].flatMap(([, names = "", from = ""]) =>
    names
      .split(",")
      .map((name) => name.trim().replace(/^type /, ""))
      .filter((name) => name !== "")
      .map((name) => ({ name, file: path.join(path.dirname(file), from) })),
  );
}

/** What stands in a file under a name. The formatter puts a blank line or a comment before it, and ends it at the margin. */
export function declarationOf(file: string, name: string): Declaration {
  const lines = readFileSync(file, "utf8").split("\n");
  const start = new RegExp(`^export (?:declare |abstract |async )*(function|class|interface|type|const) ${name}\\b`);
  const at = lines.findIndex((line) => start.test(line));
  const [, sort] = start.exec(lines[at] ?? "") ?? [];
  if (sort === undefined) throw new Error(`${file} exports no ${name}`);
  const rest = lines.slice(at);
  const hasMembers = (sort === "class" || sort === "interface") && !(lines[at] ?? "").endsWith("{}");
  const first = rest.findIndex((line) => line.endsWith("{"));
  const members = hasMembers ? membersOf(rest.slice(first + 1, rest.indexOf("}")), sort === "class") : [];
  const bases = hasMembers ? basesOf(file, lines, rest.slice(0, first + 1).join(" ")) : [];
  return { name, bases, sort, text: signature(rest, sort), comment: commentBefore(lines, at), members };
}

/** The declarations that a header such as `interface A extends B, C<D> {` names, as far as they are in this package. */
function basesOf(file: string, lines: readonly string[], header: string): Declaration[] {
  const [, extended = ""] = / extends (.*?)(?: implements .*)?\{$/.exec(withoutTypeArguments(header)) ?? [];
  const names = [...extended.matchAll(/\w+/g)].map(([name]) => name);
  return names.flatMap((name) => {
    const isHere = lines.some((line) => new RegExp(`^export (?:class|interface|type) ${name}\\b`).test(line));
    const found = isHere ? { name, from: path.basename(file) } : importOf(lines.join("\n"), name);
    return found ? [declarationOf(path.join(path.dirname(file), found.from), found.name)] : [];
  });
}

function withoutTypeArguments(text: string): string {
  const shorter = text.replace(/<[^<>]*>/g, "");
  return shorter === text ? text : withoutTypeArguments(shorter);
}

/** Where a file imports a name from, and its name there. */
function importOf(text: string, local: string): { readonly name: string; readonly from: string } | undefined {
  for (const [, names = "", from = ""] of text.matchAll(/^import (?:type )?\{([^}]*)\} from "(\.[^"]+)";/gm)) {
    for (const entry of names.split(",")) {
      const [name = "", alias = name] = entry
        .trim()
        .replace(/^type /, "")
        .split(" as ");
      if (alias === local) return { name, from };
    }
  }
  return undefined;
}

function commentBefore(lines: readonly string[], at: number): string {
  const first = lines.slice(0, at).findLastIndex((line) => line.trimStart().startsWith("/**"));
  return (lines[at - 1] ?? "").endsWith("*/") ? commentText(lines.slice(first, at)) : "";
}

const commentText = (lines: readonly string[]): string =>
  oneLine(lines.map((line) => line.replace(/^\s*(\/\*\*|\*\/|\*)/, "").replace(/\*\/\s*$/, "")).join(" ")).replace(
    /^@ts-ignore: /,
    "",
  );

/** Up to the body, or to the end of a type, in its own lines. */
function signature(lines: readonly string[], sort: string): string {
  const end = sort === "type" ? lines.indexOf("") : lines.findIndex((line) => /[{;]$/.test(line)) + 1;
  return lines
    .slice(0, end)
    .join("\n")
    .replace(/ ?[{;]\n*$/, "")
    .replace(/^export (?:async )?/, "");
}

const IS_HIDDEN = /^(?:(?:readonly |async |get )*#|private |static |constructor\b|set )/;

/** Of a body whose members are all indented by two. */
function membersOf(lines: readonly string[], isClass: boolean): Member[] {
  const starts = lines.flatMap((line, at) => (/^ {2}[\w#[]/.test(line) ? [at] : []));
  const members = starts.flatMap((at, index) => {
    const text = memberText(lines.slice(at, starts[index + 1] ?? lines.length), isClass).replace(/^override /, "");
    const [, name] = /^(?:readonly |async |get )*(["\w$-]+|\[[\w.]+\])/.exec(text) ?? [];
    const comment = commentBefore(lines, at);
    if (name === undefined || IS_HIDDEN.test(text) || comment.startsWith("@internal")) return [];
    return [{ name, text: text.replace(/^get (\S+)\(\)/, "$1").replace(/^(?:async |readonly )+/, ""), comment }];
  });
  return isClass ? members.filter((_, at) => !isImplementation(members, at)) : members;
}

/** In a class, the last of several members of one name implements the others, which are overloads. */
function isImplementation(members: readonly Member[], at: number): boolean {
  const { name } = members[at] ?? {};
  return members[at - 1]?.name === name && members[at + 1]?.name !== name;
}

/** Up to the body of a method, or to the end of a property. */
function memberText(lines: readonly string[], isClass: boolean): string {
  const last = isClass ? /^ {2}\S.*[{;]$|^ {2}\S;?$/ : /^ {2}\S(?:.*;)?$/;
  const end = lines.findIndex((line) => last.test(line));
  const text = oneLine(
    lines
      .slice(0, end + 1)
      .filter((line) => !/^\s*(?:\/\*\*|\*|\/\/)/.test(line))
      .join(" "),
  ).replace(/ ?[{;]$/, "");
  // An interface has default types, but no initial values. Neither has a method.
  const mayHaveValue = isClass && !/^(?:\w+ )*[\w$#]+[<(]/.test(text);
  return (mayHaveValue ? text.replace(/^([^(]*?) = .*$/, "$1") : text).replaceAll("( ", "(").replaceAll(", )", ")");
}
