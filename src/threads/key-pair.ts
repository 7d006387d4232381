import { giveWay } from '../app/give-way.js'
import { serveKeyPair } from '../dkim/index.js'

// Makes one RSA key pair for a new domain, which takes tenths of a second of a processor.
giveWay()
serveKeyPair()
