import type { Container } from "../../../kinds/types/container.ts";
import type {
  ContainerDefinition,
  ContainerFunction,
  ContainerImages as Definitions,
} from "../../../serving/connect/handlers/container-functions.ts";

interface Known {
  readonly pattern: string;
  readonly definition: ContainerDefinition;
}

/** What containers do, by patterns of their images. The last pattern that matches decides. */
export class ContainerImages {
  #known: readonly Known[];

  constructor(definitions: Definitions = {}) {
    this.#known = [];
    for (const [pattern, what] of Object.entries(definitions)) this.set(pattern, what);
  }

  /** Containers with these images do this when they start from now on. `*` in a pattern stands for any text. */
  set(pattern: string, what: ContainerFunction | ContainerDefinition): void {
    const definition = typeof what === "function" ? { run: what } : what;
    this.#known = [{ pattern, definition }, ...this.#known.filter((one) => one.pattern !== pattern)];
  }

  find({ image = "" }: Container): ContainerDefinition | undefined {
    return this.#known.find(({ pattern }) => matches(pattern, image))?.definition;
  }

  /** A copy that later changes do not affect. */
  copy(): ContainerImages {
    const copy = new ContainerImages();
    copy.#known = this.#known;
    return copy;
  }
}

/** Whether a text is made of the parts of a pattern between `*`. Linear in the text for each part. */
function matches(pattern: string, text: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (rest.length === 0) return pattern === text;
  const last = rest.pop() ?? "";
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
