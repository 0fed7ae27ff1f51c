// Enhancements of pages that also work without scripts.
import "./live.js";
import "./dialogs.js";
import "./selection.js";
