/** Returns an own member of an object, never an inherited one such as `constructor`. */
export function getMember<T>(object: { readonly [member: string]: T }, member: string): T | undefined {
  return Object.hasOwn(object, member) ? object[member] : undefined;
}

/** Sets an own member of any name. Plain assignment to `__proto__` would change the prototype instead. */
export function setMember<T>(object: { [member: string]: T }, member: string, value: T): void {
  if (member === "__proto__") {
    Object.defineProperty(object, member, { value, enumerable: true, configurable: true, writable: true });
  } else {
    object[member] = value;
  }
}
