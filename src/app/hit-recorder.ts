import { loadTrackingAgents, openRecorder, type Recorder } from '../tracking/index.js'
import { readAgain, trackingAgentFiles } from './files.js'
import type { Ground } from './ground.js'

export interface HitRecorder extends Recorder {
  /** Reads the operator's file of machines again. */
  reload(): void
}

/** What records opens and clicks, in whichever thread. */
export function openHitRecorder({
  config,
  dataDir,
  ...deps
}: Pick<Ground, 'config' | 'dataDir' | 'store' | 'clock' | 'log' | 'land'>): HitRecorder {
  const readAgents = () => loadTrackingAgents(trackingAgentFiles(dataDir))
  const machineWithinMs = config.tracking.machineWithin
  const recorder = openRecorder({ ...deps, agents: readAgents(), machineWithinMs })
  return { ...recorder, reload: () => readAgain(deps.log, readAgents, recorder.useAgents) }
}
