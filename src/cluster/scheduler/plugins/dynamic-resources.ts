import type { MakePlugin } from "../plugin.ts";

const NAME = "DynamicResources";

/** Allocates devices to the ResourceClaims of a Pod. */
export const dynamicResources: MakePlugin = () => ({
  name: NAME,
  postFilter: ({ general }) =>
    // Compat: `PostFilter` fails if an earlier plugin has rejected all nodes, and DefaultPreemption is not called.
    general !== undefined && general.plugin !== NAME ? { message: "not found", isFinal: true } : {},
});
