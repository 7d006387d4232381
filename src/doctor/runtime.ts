import type { Clock } from '../clock/index.js'
import { isSupported, runtimeInUse, wayToFixes } from '../config/index.js'
import { type Finding, findingsOf } from './finding.js'

/** Whether the Node that this runs on is still mended by its makers. */
export async function checkRuntime({ clock }: { clock: Clock }): Promise<Finding[]> {
  const runtime = runtimeInUse()
  const of = findingsOf('runtime', runtime.name)
  const { node } = process.versions
  if (isSupported(runtime, clock.now())) {
    return [of.ok(`Node ${node} gets fixes until ${runtime.supportEnds}`)]
  }
  const found = `Node ${node} got fixes of its security until ${runtime.supportEnds}, and gets none now`
  return [of.warn(found, wayToFixes(runtime))]
}
