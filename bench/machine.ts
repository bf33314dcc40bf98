import { availableParallelism, cpus, loadavg, release, totalmem, type } from "node:os";

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly system: string;
  readonly node: string;
  /** Processes that wanted a core during the last minute: above `cores`, others took part of the time. */
  readonly loadAtStart: number;
}

export function thisMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 1024 ** 3),
    system: `${type()} ${release()}`,
    node: process.version,
    loadAtStart: Math.round((loadavg()[0] ?? 0) * 100) / 100,
  };
}

export function describeMachine(machine: Machine): string {
  const { cpu, cores, memoryGb, system, node, loadAtStart } = machine;
  return `${cores} cores of ${cpu}, ${memoryGb} GB, ${system}, Node ${node}; load ${loadAtStart} at start`;
}
