// Logs as upgrades.txt describes them. The Go tests read the same file, in format/dsh/prepare_test.go.
import { readFile } from 'node:fs/promises'

/** { name, word, header, text, from: [versions], to: [versions] } of each recipe. */
export async function readRecipes(file) {
  const pieces = {}
  const out = []
  let piece
  for (const line of (await readFile(file, 'utf8')).split('\n')) {
    if (line === '' || line.startsWith('# ')) continue
    if (line.startsWith('== ')) piece = line.slice(3)
    else if (line.startsWith('-- ')) {
      const [name, from, to, word] = line.slice(3).split(' | ')
      const versions = list => list.split(' ').map(Number)
      out.push({ name, word, header: undefined, text: '', from: versions(from), to: versions(to) })
      piece = undefined
    } else {
      const lines = line.startsWith('@') ? pieces[line.slice(1)] : line + '\n'
      if (piece !== undefined) pieces[piece] = (pieces[piece] ?? '') + lines
      else if (line.startsWith('"')) out.at(-1).header = line
      else out.at(-1).text += lines
    }
  }
  return out
}

/** The text of a recipe's log in one version. */
export function logOf({ header, text }, version) {
  if (version >= 2) text = text.replaceAll('assistant/message {', 'assistant/message {"stream":[],')
  if (version >= 3) {
    text = text.replaceAll('"op":"replace","start":', '"op":"replace","startSeq":').replaceAll(',"end":', ',"endSeq":')
      .replace('step/start {"turn":1,"step":1}', found => `${found}\nsystem/message {"turn":1,"step":1,"message":{"id":"m-sys","role":"system","source":{"kind":"plugin","plugin":"@deepseek-ai/dsh-system-prompt"},"content":[]}} S`)
  }
  const numbers = {}
  let seq = 0
  const rows = text.split('\n').filter(line => line !== '').map((line) => {
    const label = /^([\w-]+): /.exec(line)
    if (label) {
      for (let more = 0; more < 3; more += 1) numbers[label[1] + (more > 0 ? `+${more}` : '')] = seq + more
      line = line.slice(label[0].length)
    }
    line = line.replace(/<([\w-]+(?:\+\d)?)>/g, (all, name) => numbers[name] ?? all)
    const [, type, rest] = /^(\S+) (.*)$/.exec(line)
    const end = jsonEnd(rest)
    const data = rest.slice(0, end)
    let more = rest.slice(end).trim()
    if (more.startsWith('S')) more = '"surfaceOp":"append"' + (more.length > 1 ? `,"sourceEventSeqs":${more.slice(1)}` : '')
    const packed = type.endsWith('-chunks')
    const row = packed ? `{"type":"${type}","seq0":${seq},"time0":9,"data":${data}}` : `{"type":"${type}","seq":${seq},"time":9,"data":${data}${more === '' ? '' : `,${more}`}}`
    const { texts, args } = packed ? JSON.parse(data) : {}
    seq += packed ? (texts ?? args).length : 1
    return row
  })
  header ??= `"id":"tide","createdAt":7,"delegationDepth":0${version >= 2 ? ',"isSeeded":false' : ''}`
  if (version >= 2 && !header.includes('"isSeeded"')) header += ',"isSeeded":false'
  return [`{"type":"session","version":${version},${header}}`, ...rows].map(line => line + '\n').join('')
}

function jsonEnd(text) {
  let depth = 0
  let inString = false
  for (let i = 0; i < text.length; i += 1) {
    const c = text[i]
    if (inString) {
      if (c === '\\') i += 1
      else if (c === '"') inString = false
    } else if (c === '"') inString = true
    else if (c === '{' || c === '[') depth += 1
    else if ((c === '}' || c === ']') && --depth === 0) return i + 1
  }
  throw new Error(`no JSON: ${text}`)
}
