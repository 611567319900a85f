import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, cp } from "node:fs/promises";
import path from "node:path";
import { cacheFolder } from "../support/tools.ts";
import { normalise } from "./steps.ts";

/** Runs commands of the tutorial against one cluster. */
export class TutorialShell {
  readonly #folder: string;
  readonly #kubeconfig: string;

  private constructor(folder: string, kubeconfig: string) {
    this.#folder = folder;
    this.#kubeconfig = kubeconfig;
  }

  /** In a folder, which gets the manifests and the chart that the commands use. */
  static async open(folder: string, kubeconfig: string): Promise<TutorialShell> {
    await copyFile(path.join(import.meta.dirname, "web.yaml"), path.join(folder, "web.yaml"));
    await cp(path.join(import.meta.dirname, "..", "clients", "helm", "chart"), path.join(folder, "chart"), {
      recursive: true,
    });
    return new TutorialShell(folder, kubeconfig);
  }

  /** The output of a command, as it is, with that of errors. `$POD` is the first Pod of the tutorial's Deployment. */
  async run(command: string): Promise<string> {
    return this.#sh(command.includes("$POD") ? `POD=$(${FIRST_POD}); ${command}` : command);
  }

  /** The output of a command without what differs from one run to the next. */
  async normalised(command: string): Promise<string> {
    return normalise(await this.run(command));
  }

  async #sh(commands: string): Promise<string> {
    const programs = path.join(cacheFolder(), "bin");
    const env = {
      ...process.env,
      HOME: this.#folder,
      KUBECONFIG: this.#kubeconfig,
      PATH: [programs, process.env.PATH].join(path.delimiter),
    };
    const child = spawn("sh", ["-c", `exec 2>&1\n${commands}`], {
      cwd: this.#folder,
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
    await once(child, "close");
    return output;
  }
}

const FIRST_POD = "kubectl get pods -l app=kubernetes-bootcamp -o jsonpath='{.items[0].metadata.name}'";
