import { readFileSync, readlinkSync } from 'node:fs'

/** The calling thread, as others of its process may ask for its time; undefined where the system has no such thing. */
export function ownTask(): number | undefined {
  try {
    // proc(5): `1234/task/1240`.
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1))
  } catch {
    return undefined
  }
}

/** How long a thread of this process has had a processor, in ms; undefined where nobody tells. */
export function processorMs(task: number | undefined): number | undefined {
  if (task === undefined) return undefined
  try {
    const [nanoseconds = ''] = readFileSync(`/proc/self/task/${task}/schedstat`, 'utf8').split(' ')
    return Number(nanoseconds) / 1e6
  } catch {
    return undefined
  }
}
