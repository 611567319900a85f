import { type Filter, type MakePlugin, unresolvable } from "../plugin.ts";

const NAME = "NodeName";
const OTHER_NAME = unresolvable(NAME, "node(s) didn't match the requested node name");

/** Allows only the node that the Pod names. */
export const nodeName: MakePlugin = () => ({
  name: NAME,
  events: [{ resource: "Node", actions: ["Add"] }],
  filter({ pod }): Filter | undefined {
    const name = pod.spec?.nodeName ?? "";
    if (name === "") return undefined;
    return { nodeNames: new Set([name]), check: (node) => (node.name === name ? undefined : OTHER_NAME) };
  },
});
