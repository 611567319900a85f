/** A value or a promise. Code that usually has the value continues synchronously. */
export type Eventually<T> = T | Promise<T>;

/** Passes a value to `next`: synchronously if it is not a promise, otherwise when it resolves. */
export function proceed<T, U>(value: Eventually<T>, next: (value: T) => Eventually<U>): Eventually<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
