const RESERVED: ReadonlySet<string> = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

const ESCAPED: ReadonlyMap<string, string> = new Map([
  ["__", "__underscores__"],
  [".", "__dot__"],
  ["-", "__dash__"],
  ["/", "__slash__"],
]);
const PLAIN: ReadonlyMap<string, string> = new Map([...ESCAPED].map(([text, escaped]) => [escaped, text]));

/** The escaped name of a property in expressions. Undefined if it cannot be used there. Upstream: `cel.Escape`. */
export function escapeName(name: string): string | undefined {
  if (RESERVED.has(name)) return `__${name}__`;
  if (!/^[a-zA-Z_./-][a-zA-Z0-9_./-]*$/.test(name)) return undefined;
  return name.replace(/__|[-./]/g, (text) => ESCAPED.get(text) ?? text);
}

/** The property name of an escaped name. Undefined if the name is invalid. Upstream: `cel.Unescape`. */
export function unescapeName(name: string): string | undefined {
  if (!name.includes("__")) return name;
  let isKnown = true;
  const result = name.replace(/__[^_]+__/g, (text) => {
    const plain = PLAIN.get(text);
    if (plain !== undefined) return plain;
    const word = text.slice(2, -2);
    if (!RESERVED.has(word) || text.length !== name.length) isKnown = false;
    return word;
  });
  return isKnown ? result : undefined;
}
