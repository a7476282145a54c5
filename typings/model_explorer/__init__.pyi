class ModelExplorerConfig:
    def add_model_from_path(self, path: str, adapterId: str = ...) -> ModelExplorerConfig: ...
    def add_node_data(self, name: str, node_data: str, model_name: str | None = ...) -> ModelExplorerConfig: ...

def config() -> ModelExplorerConfig: ...
def visualize_from_config(
    config: ModelExplorerConfig | None = ...,
    host: str = ...,
    port: int = ...,
    extensions: list[str] = ...,
    cors_host: str | None = ...,
    no_open_in_browser: bool = ...,
    colab_height: int = ...,
    watch: bool = ...,
) -> None: ...
