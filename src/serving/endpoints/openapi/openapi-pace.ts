/**
 * Returns a function that creates a value once, also for concurrent calls. After a failure the next call tries again.
 */
export function onceAsync<T>(make: () => Promise<T>): () => Promise<T> {
  let source = make;
  let made: Promise<T> | undefined;
  const attempt = async (): Promise<T> => {
    try {
      const value = await source();
      // Releases the closure, which may hold large data.
      source = spent;
      return value;
    } catch (error) {
      made = undefined;
      throw error;
    }
  };
  return () => {
    made ??= attempt();
    return made;
  };
}

const spent = (): Promise<never> => Promise.reject(new Error("already created"));
