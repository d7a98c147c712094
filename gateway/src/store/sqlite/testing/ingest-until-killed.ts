/** Opens the data folder given as its first argument, and dies at a failpoint of the ingest or of the chunks. For tests. */
import { databasePath } from '../database/connection.ts';
import { openWriterDatabase } from '../writer/writer-database.ts';
import { armedReach } from './armed-reach.ts';

const [dataDir = ''] = process.argv.slice(2);
const place = { path: databasePath(dataDir), databaseBytesMax: null, stream: null };
const writer = openWriterDatabase(place, armedReach());
while (writer.chunk());
writer.close();
