import type { ArchiveTools } from '../archive/routes.js'
import { answerTo, bringCertificates } from '../certificates/index.js'
import { makeFormTallies, makeSignupTokens } from '../forms/index.js'
import type { FormDesk } from '../forms/routes.js'
import {
  loadTrackingAgents,
  makeMachineSign,
  openHandOver,
  openRecorder,
} from '../tracking/index.js'
import { certificatesOf } from './certificates.js'
import { readAgain, trackingAgentFiles } from './files.js'
import type { Ground } from './ground.js'
import { makeHttpsPeers, publicOverTls } from './https.js'
import { openPublicServer } from './public-listener.js'
import type { WayBack } from './way-back.js'
import { urlOf } from './where.js'

export type Front = Awaited<ReturnType<typeof openFront>>

/** The public listener, which is there before the threads: its port is in the links of the mail that they send. */
export async function openFront(ground: Ground, back: WayBack) {
  const { config, dataDir, log, clock } = ground
  // Certificates that other nodes have got: a listener of TLS opens with them.
  if (config.tls.acme) await bringCertificates(ground, new Map(), { removes: false })
  const certificates = certificatesOf('public', { config, dataDir, log })
  const httpsPeers = makeHttpsPeers(config)
  let recordElsewhere = async (_hits: string) => false
  const readAgents = () => loadTrackingAgents(trackingAgentFiles(dataDir))
  let agents = readAgents()
  const own = openRecorder({ ...ground, agents, machineWithinMs: config.tracking.machineWithin })
  const recorder = openHandOver({ clock, log, give: (hits) => recordElsewhere(hits), own })
  // Closed after the listener, since it writes the listener's last hits.
  back.add(() => recorder.close())
  const tokens = makeSignupTokens(ground.key, clock)
  const tallies = makeFormTallies()
  const machineSign = makeMachineSign(() => agents, config.tracking.machineWithin)
  let desk: FormDesk | undefined
  let archiveTools: ArchiveTools | undefined
  let publicUrl = config.http.public.url
  back.add(() => tallies.flush(ground.store))
  const server = await openPublicServer(ground, {
    ...ground,
    forms: { tokens, tallies, machineSign, desk: () => desk },
    archive: { publicUrl: () => publicUrl, tools: () => archiveTools },
    recorder,
    challenge: (token) => answerTo(ground.store.read, token),
    overTls: publicOverTls(ground, httpsPeers, certificates),
  })
  back.add(() => server.close(config.http.shutdownGrace))
  const { host, port } = config.http.public
  // Behind proxies it listens on a socket, and its port opens with the thread in front.
  const publicPort = httpsPeers.publicPlain === undefined ? server.port : port
  publicUrl ||= urlOf(host, publicPort)
  return {
    certificates,
    httpsPeers,
    forms: { tokens, tallies },
    desk: () => desk,
    /** From now on forms are taken in. */
    openDesk(opened: FormDesk) {
      desk = opened
    },
    /** From now on past campaigns are shown. */
    openArchive(tools: ArchiveTools) {
      archiveTools = tools
    },
    /** Who opens and clicks without reading, by the last good file. */
    agents: () => agents,
    publicPort,
    publicUrl,
    /** From now on another thread records the hits, as far as it takes them. */
    recordBy(record: (hits: string) => Promise<boolean>) {
      recordElsewhere = record
    },
    reload() {
      certificates.reload()
      readAgain(log, readAgents, (fresh) => {
        agents = fresh
        own.useAgents(fresh)
      })
    },
  }
}
