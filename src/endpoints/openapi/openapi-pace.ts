/** Makes something once, however many ask at the same time. A failure is not kept: the next one tries again. */
export function onceAsync<T>(make: () => Promise<T>): () => Promise<T> {
  let source = make;
  let made: Promise<T> | undefined;
  const attempt = async (): Promise<T> => {
    try {
      const value = await source();
      // What it was made from may be large and is not needed again.
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

const spent = (): Promise<never> => Promise.reject(new Error("it was made before"));
