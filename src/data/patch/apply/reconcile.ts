import { EMPTY, type FieldSet, hasChildren, isMember, type MutableFieldSet } from "./field-set.ts";
import { fieldName, type PathElement } from "./path-element.ts";
import { DEDUCED, type Shape } from "./shape.ts";

/**
 * Updates a set after the schema made a value atomic that was not atomic when the set was written: paths below become
 * the path of the atomic value. Returns the set itself if nothing changed.
 */
export function reconcile(shape: Shape, set: FieldSet): FieldSet {
  return reconcileNode(shape, set, false);
}

/** `isWhole`: the node is a member without members below. */
function reconcileNode(shape: Shape, node: FieldSet, isWhole: boolean): FieldSet {
  const { map, scalar, list } = shape;
  if (map !== undefined) {
    if (map.fields().size === 0 && map.values() === DEDUCED) return node;
    if (map.isAtomic) return EMPTY;
    return isWhole ? node : reconcileChildren(node, (element) => memberOf(shape, element));
  }
  if (scalar !== undefined || list === undefined) return node;
  if (list.isAtomic) return EMPTY;
  return isWhole ? node : reconcileChildren(node, () => list.items());
}

function memberOf({ map }: Shape, element: PathElement): Shape | undefined {
  const name = fieldName(element);
  const field = name === undefined ? undefined : map?.fields().get(name);
  return field?.shape() ?? map?.values();
}

function reconcileChildren(node: FieldSet, shapeAt: (element: PathElement) => Shape | undefined): FieldSet {
  let out: MutableFieldSet | undefined;
  for (const element in node) {
    const child = node[element] ?? EMPTY;
    const shape = element === "." ? undefined : shapeAt(element);
    if (shape === undefined) continue;
    const fixed = reconcileNode(shape, child, isMember(child) && !hasChildren(child));
    if (fixed === child) continue;
    // A member without members below is the same set in any representation.
    if (!hasChildren(child) && !hasChildren(fixed)) continue;
    out ??= { ...node };
    out[element] = fixed;
  }
  return out ?? node;
}
