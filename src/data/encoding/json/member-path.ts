/** The path of a member during a scan. Its text is created only if it is reported, because paths may be long. */
export class MemberPath {
  readonly #parent: MemberPath | undefined;
  readonly #part: string | number;
  /** The representative of all paths with the same text. */
  #known: MemberPath | undefined;
  #children: Map<string | number, MemberPath> | undefined;

  constructor(part: string | number = "", parent?: MemberPath) {
    this.#part = part;
    this.#parent = parent;
  }

  below(part: string | number): MemberPath {
    return new MemberPath(part, this);
  }

  /** Returns the same object for all paths with the same parts. */
  known(): MemberPath {
    if (this.#known === undefined) {
      this.#known = this.#parent === undefined ? this : this.#parent.known().#child(this.#part, this);
    }
    return this.#known;
  }

  #child(part: string | number, first: MemberPath): MemberPath {
    this.#children ??= new Map();
    const child = this.#children.get(part) ?? first;
    this.#children.set(part, child);
    return child;
  }

  /** The path as shown in messages: `spec.ports[0].name`. */
  print(): string {
    const parts: (string | number)[] = [];
    for (let at: MemberPath = this; at.#parent !== undefined; at = at.#parent) parts.push(at.#part);
    let text = "";
    for (const part of parts.toReversed()) {
      if (typeof part === "number") text += `[${part}]`;
      else text += text === "" ? part : `.${part}`;
    }
    return text;
  }
}
