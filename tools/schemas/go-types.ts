/** One field of a Go struct, as its tags describe it. */
export interface GoField {
  /** Name in JSON; empty for an embedded struct whose fields stand among those of the outer one. */
  readonly json: string;
  readonly goType: string;
  readonly isPointer: boolean;
  readonly omitEmpty: boolean;
  readonly omitZero: boolean;
  /** Field number in protobuf; undefined when the field is not part of the binary form. */
  readonly number: number | undefined;
}

/** The structs of one Go package, and the names that merely stand for a struct of another package. */
export interface GoPackage {
  readonly structs: Map<string, GoField[]>;
  /** Name to `k8s.io/…/path.Name`. */
  readonly aliases: Map<string, string>;
}

const FIELD = /^\s*(?:([A-Za-z_]\w*)\s+)?([^\s`]+(?:\s*\{\})?)\s+`([^`]*)`/;

/** Reads a Go source text into `into`: fields with a `json` tag, in declaration order. */
export function parseGoSource(source: string, into: GoPackage): void {
  const { structs, aliases } = into;
  const imports = new Map(
    [...source.matchAll(/^\s*(\w+)\s+"(k8s\.io\/[^"]+)"/gm)].map((match) => [match[1], match[2]]),
  );
  for (const [, name = "", from = "", target] of source.matchAll(/^type\s+(\w+)\s+(?:=\s+)?(\w+)\.(\w+)\s*$/gm)) {
    const path = imports.get(from);
    if (path !== undefined) aliases.set(name, `${path}.${target}`);
  }
  let fields: GoField[] | undefined;
  for (const line of source.replace(/\/\*[\s\S]*?\*\//g, "").split("\n")) {
    const start = /^type\s+(\w+)\s+struct\s*\{(\s*\})?/.exec(line);
    if (start?.[1] !== undefined) {
      const opened: GoField[] = [];
      structs.set(start[1], opened);
      fields = start[2] === undefined ? opened : undefined;
    } else if (line.startsWith("}")) {
      fields = undefined;
    } else if (fields !== undefined && !/^\s*\/\//.test(line)) {
      const field = parseField(line);
      if (field !== undefined) fields.push(field);
    }
  }
}

function parseField(line: string): GoField | undefined {
  const match = FIELD.exec(line);
  if (match === null) return undefined;
  const [, , goType = "", tags = ""] = match;
  const json = tagOf(tags, "json");
  if (json === undefined || json === "-") return undefined;
  const [name = "", ...flags] = json.split(",");
  const protobuf = tagOf(tags, "protobuf")?.split(",");
  return {
    json: name,
    goType,
    isPointer: goType.startsWith("*") || goType === "runtime.Object",
    omitEmpty: flags.includes("omitempty"),
    omitZero: flags.includes("omitzero"),
    number: protobuf === undefined ? undefined : Number(protobuf[1]),
  };
}

function tagOf(tags: string, key: string): string | undefined {
  return new RegExp(`(?:^|\\s)${key}:"([^"]*)"`).exec(tags)?.[1];
}
