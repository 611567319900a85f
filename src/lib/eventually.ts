/** A value, or the promise of one. Code that mostly has the value goes on without waiting a turn. */
export type Eventually<T> = T | Promise<T>;

/** Goes on with a value: at once when it is there, else when it comes. */
export function proceed<T, U>(value: Eventually<T>, next: (value: T) => Eventually<U>): Eventually<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
