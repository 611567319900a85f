import type { Node } from "../../kinds/types/node.ts";

/** An image that some nodes have. */
export interface ImageState {
  /** In bytes, as the first of the nodes reports it. */
  readonly size: number;
  readonly nodes: Set<string>;
}

/** Which nodes have an image, by each of its names. */
export class ImageStates {
  readonly #states = new Map<string, ImageState>();

  /** Adds the images of a node. Returns them by name. */
  add(nodeName: string, { status }: Node): ReadonlyMap<string, ImageState> {
    const found = new Map<string, ImageState>();
    for (const { names = [], sizeBytes = 0 } of status?.images ?? []) {
      for (const name of names) {
        const state = this.#states.get(name) ?? { size: Number(sizeBytes), nodes: new Set() };
        this.#states.set(name, state);
        state.nodes.add(nodeName);
        found.set(name, state);
      }
    }
    return found;
  }

  has(image: string): boolean {
    return this.#states.has(image);
  }

  remove(nodeName: string, images: ReadonlyMap<string, ImageState>): void {
    for (const [name, { nodes }] of images) {
      nodes.delete(nodeName);
      if (nodes.size === 0) this.#states.delete(name);
    }
  }
}
