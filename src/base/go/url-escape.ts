/** Percent-encodes a path like Go's `URL.EscapedPath`. Slashes are kept. */
export function escapePath(path: string): string {
  return escapeAll(path, /[^A-Za-z0-9\-_.~$&+,/:;=@]/gu);
}

/** Percent-encodes a name or value like Go's `url.QueryEscape`. */
export function escapeQuery(text: string): string {
  return escapeAll(text, /[^A-Za-z0-9\-_.~ ]/gu).replaceAll(" ", "+");
}

/** Prints a query like Go's `Values.Encode`, sorted by name. */
export function encodeQuery(parameters: readonly (readonly [name: string, value: string])[]): string {
  const sorted = parameters.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return sorted.map(([name, value]) => `${escapeQuery(name)}=${escapeQuery(value)}`).join("&");
}

function escapeAll(text: string, characters: RegExp): string {
  return text.replace(characters, (character) =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join(""),
  );
}

/** Joins elements like Go's `path.Join`, but keeps the trailing slash of the last non-empty element. */
export function joinPath(...elements: readonly string[]): string {
  const last = elements.findLast((element) => element !== "");
  if (last === undefined) return "";
  const joined = cleanPath(elements.filter((element) => element !== "").join("/"));
  return last.endsWith("/") && !joined.endsWith("/") ? `${joined}/` : joined;
}

/** Go's `path.Clean`. */
export function cleanPath(path: string): string {
  const isRooted = path.startsWith("/");
  const kept: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") kept.push(segment);
    else if (kept.length > 0 && kept.at(-1) !== "..") kept.pop();
    else if (!isRooted) kept.push("..");
  }
  const joined = kept.join("/");
  return isRooted ? `/${joined}` : joined === "" ? "." : joined;
}
