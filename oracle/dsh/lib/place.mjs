// Where the client looks for a session: <root>/<project>/<session>/session[.vN].jsonl[.zstd]
import { join } from 'node:path'

const escaped = unit => /[\w.-]/.test(unit) ? unit : '~' + unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')
const escapeAll = words => words.split('').map(escaped).join('')

export function projectFolder(cwd) {
  if (typeof cwd !== 'string') return '_no-cwd'
  const slug = escapeAll(cwd.replace(/[/\\:]+/g, '-')).replace(/^-+/, '')
  return `--${(slug || 'root').slice(0, 251)}--`
}

export function sessionFolder(id) {
  return /^\.\.?$/.test(id) ? id.replaceAll('.', '~002E') : escapeAll(id)
}

export function logName(version, encoding) {
  return `session${version > 0 ? `.v${version}` : ''}.jsonl${encoding === 'zstd' ? '.zstd' : ''}`
}

export function logPath(root, { cwd, id, version = 0, encoding = 'plain' }) {
  return join(root, projectFolder(cwd), sessionFolder(id), logName(version, encoding))
}

export const encodingOf = file => /\.zstd?$/.test(file) ? 'zstd' : 'plain'
