import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { printTranscript, readTranscript, type Transcript } from "./transcript.ts";

const fileOf = (area: string) => path.join(import.meta.dirname, "recorded", `${area}.txt`);

/** What the real server answered in an area; empty if that was never recorded. */
export async function readRecording(area: string): Promise<Transcript> {
  return readTranscript(await readFile(fileOf(area), "utf8").catch(() => ""));
}

/** Keeps what the real server answered in an area. */
export async function writeRecording(area: string, transcript: Transcript): Promise<void> {
  await writeFile(fileOf(area), printTranscript(transcript));
}
