import { readFileSync } from "node:fs";

// Sources and the bundled file that they become lie at different depths.
const folder = new URL("descriptions/", import.meta.resolve("#package.json"));
/** Fields that mean the same wherever they occur in a package, or, in the file `common`, anywhere. */
const ANY = "*";
const COMMON = "common";

/** What a file of descriptions says. */
export interface Descriptions {
  /** Texts by name: `Pod` for a shape, `Pod.spec` for a field. */
  readonly texts: ReadonlyMap<string, string>;
  /** Shapes that have the fields of another one: `EphemeralContainer` → `Container`. */
  readonly likes: ReadonlyMap<string, string>;
}

/**
 * A line that starts with a letter or `*` is about a shape, an indented one about a field of the shape above it; the first
 * word is the name. Shapes may have no text. `Shape (Other) …` has the texts of Other's fields where it has no own.
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

/** The file about the shapes of a package: `io.k8s.api.core.v1` → `core_v1`. */
function fileOf(componentPackage: string): string {
  return componentPackage.split(".").slice(-2).join("_");
}

/**
 * Descriptions of built-in shapes and their fields. A file that `read` gives by name is read when one of its shapes is
 * first asked for. Older and newer versions of a group have the texts of its v1 unless they have their own.
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

/** The text about a built-in shape or one of its fields, or undefined. Reads the file that holds it at first need. */
export const findDescription: (component: string, field?: string) => string | undefined = descriptionLibrary((name) => {
  try {
    return readFileSync(new URL(`${name}.txt`, folder), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
});
