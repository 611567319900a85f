import path from "node:path";
import type { Follower } from "../model/storm.ts";
import { buildGoProgram, startGoFollower } from "../support/go-program.ts";

/** Builds the program unless it has been built from the same sources before. */
export const buildReflector = (): Promise<string> => buildGoProgram(path.join(import.meta.dirname, "reflector"));

interface Report {
  readonly objects: Record<string, string>;
  readonly complaints: string[];
  readonly counts: Record<string, number>;
}

/** client-go's reflector in a process of its own, and a controller's writes. */
export interface Reflector extends Follower {
  /** Reads a ConfigMap and writes it again until there is no conflict. */
  write(key: string): Promise<void>;
}

/** Starts the program, which follows all ConfigMaps of a server. */
export function startReflector(program: string, server: string, token: string): Reflector {
  const { ask, stop } = startGoFollower<Report>(program, server, token);
  return {
    held: async () => (await ask("report")).objects,
    complaints: async () => (await ask("report")).complaints,
    counts: async () => (await ask("report")).counts,
    write: async (key) => void (await ask(`write ${key}`)),
    stop,
  };
}
