import { serveSigning } from '../dkim/index.js'

serveSigning()
