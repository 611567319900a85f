import type { NodeInfo } from "./node-info.ts";

interface Derived<T> {
  readonly generation: number;
  readonly value: T;
}

/** Derives a value from a node and its Pods. Keeps it until the node changes. */
export function perNode<T>(derive: (node: NodeInfo) => T): (node: NodeInfo) => T {
  const known = new WeakMap<NodeInfo, Derived<T>>();
  return (node) => {
    const { generation } = node;
    const found = known.get(node);
    if (found?.generation === generation) return found.value;
    const value = derive(node);
    known.set(node, { generation, value });
    return value;
  };
}
