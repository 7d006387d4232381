import {
  loadTrackingAgents,
  openRecorder,
  type Recorder,
  type TrackingAgents,
} from '../tracking/index.js'
import { readAgain, trackingAgentFiles } from './files.js'
import type { Ground } from './ground.js'

export interface HitRecorder extends Recorder {
  /** Who opens and clicks without reading, by the last good file. */
  agents(): TrackingAgents
  /** Reads the operator's file of machines again. */
  reload(): void
}

/** What records opens and clicks, in whichever thread; the main thread reads the file and hands it to others. */
export function openHitRecorder({
  config,
  dataDir,
  agents: given,
  ...deps
}: Pick<Ground, 'config' | 'dataDir' | 'store' | 'clock' | 'log' | 'land'> & {
  agents?: TrackingAgents
}): HitRecorder {
  const readAgents = () => loadTrackingAgents(trackingAgentFiles(dataDir))
  let agents = given ?? readAgents()
  const machineWithinMs = config.tracking.machineWithin
  const recorder = openRecorder({ ...deps, agents, machineWithinMs })
  const use = (fresh: TrackingAgents) => {
    agents = fresh
    recorder.useAgents(fresh)
  }
  return { ...recorder, agents: () => agents, reload: () => readAgain(deps.log, readAgents, use) }
}
