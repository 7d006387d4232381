import { serveSigning } from '../dkim/index.js'

// Makes the DKIM signatures of one outbound thread: RSA takes a third of a mail's CPU.
serveSigning()
