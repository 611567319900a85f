import { readFileSync } from "node:fs";

// Sources and the bundled file are at different depths.
const folder = new URL("descriptions/", import.meta.resolve("#package.json"));
/** Fields with the same meaning in a whole package or, in the file `common`, everywhere. */
const ANY = "*";
const COMMON = "common";

/** Contents of a file of descriptions. */
export interface Descriptions {
  /** Texts by name: `Pod` for a type, `Pod.spec` for a field. */
  readonly texts: ReadonlyMap<string, string>;
  /** Types that have the fields of another one: `EphemeralContainer` → `Container`. */
  readonly likes: ReadonlyMap<string, string>;
}

/**
 * A line that starts with a letter or `*` describes a type, an indented line a field of the type above it; the first
 * word is the name. Types may have no text. `Type (Other) …` inherits the texts of Other's fields.
 */
export function parseDescriptions(text: string): Descriptions {
  const texts = new Map<string, string>();
  const likes = new Map<string, string>();
  let shape = "";
  for (const line of text.split("\n")) {
    const [, name = "", like, words = ""] = /^ ?(\S+)(?: \((\w+)\))?(?: (.*))?$/.exec(line) ?? [];
    if (name === "") continue;
    const isField = line.startsWith(" ");
    if (!isField) shape = name;
    if (!isField && like !== undefined) likes.set(shape, like);
    if (words !== "") texts.set(isField ? `${shape}.${name}` : name, words);
  }
  return { texts, likes };
}

/** The file of the types of a package: `io.k8s.api.core.v1` → `core_v1`. */
function fileOf(componentPackage: string): string {
  return componentPackage.split(".").slice(-2).join("_");
}

/**
 * Descriptions of built-in types and their fields. `read` returns a file by name; it is called when one of its types is
 * first used. Other versions of a group use the texts of its v1 unless they have their own.
 */
export function descriptionLibrary(
  read: (name: string) => string | undefined,
): (component: string, field?: string) => string | undefined {
  const files = new Map<string, Descriptions>();
  const fileNamed = (name: string): Descriptions => {
    let file = files.get(name);
    if (file === undefined) {
      file = parseDescriptions(read(name) ?? "");
      files.set(name, file);
    }
    return file;
  };
  return (component, field) => {
    const dot = component.lastIndexOf(".");
    const name = component.slice(dot + 1);
    const own = fileOf(component.slice(0, dot));
    const stable = own.replace(/_v[^_]*$/, "_v1");
    const versions = own === stable ? [own] : [own, stable];
    const find = (among: readonly string[], key: string, part: keyof Descriptions = "texts"): string | undefined => {
      for (const file of among) {
        const text = fileNamed(file)[part].get(key);
        if (text !== undefined) return text;
      }
      return undefined;
    };
    if (field === undefined) return find(versions, name);
    const text = find(versions, `${name}.${field}`);
    if (text !== undefined) return text;
    const like = find(versions, name, "likes");
    return (like && find(versions, `${like}.${field}`)) ?? find([...versions, COMMON], `${ANY}.${field}`);
  };
}

/** The description of a built-in type or one of its fields; undefined if there is none. Files are read on first use. */
export const findDescription: (component: string, field?: string) => string | undefined = descriptionLibrary((name) => {
  try {
    return readFileSync(new URL(`${name}.txt`, folder), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
});
