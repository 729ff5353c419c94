// What every app shares: the page's name, its data, and where its text is hidden.
import "./style.css";

export const name = location.pathname.split("/")[2];
export const load = (part = "") => fetch(`/api/${name}${part}`).then((response) => response.json());
