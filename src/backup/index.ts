/**
 * Backups of a data directory in use, each one file that is checked before it gets its name; what is in them, whether
 * they are sound, and their way back. What must hold: mail is not held up; a file with the name of a backup is whole;
 * nothing of an archive is believed before it was checked, and the archive does not say where anything is written; a
 * restore that is killed leaves the old, the new, or nothing that starts. See README.md.
 */
export type { Order } from './apart.js'
export type { PublicHead } from './cipher.js'
export { openBackup, readPublicHead } from './container.js'
export { makeDirectory, problemOfDirectory } from './directory.js'
export { type BackupStage, type MadeBackup, makeBackup } from './make.js'
export { databaseName, hasDatabase, type Manifest } from './manifest.js'
export { type FoundBackup, findBackups } from './names.js'
export { checkPassphrase, passphraseOf } from './passphrase.js'
export { type Restored, restoreBackup } from './restore.js'
export {
  askArchive,
  carryOut,
  type ScheduledDeps,
  scheduledBackup,
  scheduledCheck,
} from './scheduled.js'
export { manifestOf } from './unpack.js'
export { type Verified, verifyBackup } from './verify.js'
